"""The machine itself: processes, the text files of the kernel, sampling."""
