"""Languages: what the program writes in English, said in Chinese."""
