"""What the learning commands say themselves, in both languages. Lessons and questions come from data instead."""

from triage.language.lang import LANGS, Lang

PHRASES: dict[str, tuple[str, str]] = {
    "measured": ("measured", "如何测量"),
    "signals": ("signals", "信号"),
    "kinds": ("rules", "规则"),
    "way": ("the way down", "排查路径"),
    "goal": ("Goal", "目标"),
    "recording": ("Recording", "录像"),
    "step": ("Step {number} of {total}", "第 {number} 步，共 {total} 步"),
    "check": ("Question", "问题"),
    "answer": ("Answer", "答案"),
    "press": ("Enter shows the answer ", "按回车显示答案 "),
    "next": ("Enter goes on ", "按回车继续 "),
    "leave": ("Esc goes back to the list ", "按 Esc 返回列表 "),
    "reading": ("reading the recording ...", "正在读取录像 …"),
    "verdict": ("verdict", "判定"),
    "present": ("present", "成立"),
    "absent": ("absent", "不成立"),
    "unknown": ("unknown", "未知"),
    "before": ("before", "之前"),
    "window": ("window", "窗口"),
    "no data": ("no data", "无数据"),
    "missing": ("missing", "缺少"),
    "to get it": ("to get it", "获取方法"),
    "differs": (
        "The text was written for a recording in which this is '{expected}'; here it is '{found}'.",
        "课文所写的录像中此处应为“{expected}”，而这里是“{found}”。",
    ),
    "not so": ("The text was written for a recording with {claim}.", "课文所写的录像中应有 {claim}。"),
    "level 0": ("to begin with", "从这里开始"),
    "level 1": ("easy", "入门"),
    "level 2": ("middle", "进阶"),
    "level 3": ("hard", "困难"),
    "lines with": ("log lines with {text!r}", "含 {text!r} 的日志行"),
    "lines": ("log lines", "日志行"),
    "line count": ("{count} lines", "{count} 行"),
    "changes": ("changes to the service", "服务的变更"),
    "seen": ("seen", "有"),
    "none seen": ("none seen", "未见到"),
    "more subjects": ("and {count} more", "另有 {count} 个"),
    "done": ("Done. 'triage learn list' shows what else there is.", "完成。用 “triage learn list” 查看其余课程。"),
    "drill": ("Drill {number}", "演练 {number}"),
    "drills": ("drills", "演练"),
    "how to drill": (
        "'triage learn drill' begins the first that you have not finished.",
        "“triage learn drill” 从第一个未完成的开始。",
    ),
    "symptoms": ("What users notice", "用户注意到的"),
    "no symptoms": (
        "Of what is measured, no promise to users is clearly broken; yet somebody called.",
        "在已测量的范围内，没有明显违背的承诺；但有人报告了问题。",
    ),
    "known": ("What is known of the service", "已知的服务信息"),
    "help": (
        (
            "Look first: 'signals' (or 'signals hardware') lists what is measured, the name of a signal shows it (1 min); "
            "'logs' lists logs, 'log NAME' or 'log NAME TEXT' reads one, 'grep TEXT' all (2 min); 'changes' (1 min). "
            "Then a layer's name or number (1-5) lists its questions, 'ask 12' asks one (4 min). "
            "'cause 12' or 'cause ID' names the cause; 'quit' ends."
        ),
        (
            "先看：“signals”（或 “signals hardware”）列出信号，输入信号名查看它（1 分钟）；"
            "“logs” 列出日志，“log 名称” 或 “log 名称 文字” 读一份，“grep 文字” 搜索全部（2 分钟）；“changes” 看变更（1 分钟）。"
            "再问：输入层的名称或编号（1-5）列出问题，“ask 12” 提问（4 分钟）。“cause 12” 或 “cause 标识” 说出原因；“quit” 放弃。"
        ),
    ),
    "look first": (
        (
            "Look at {count} things first: a signal, a log, the changes. "
            "A question is a judgement of all evidence; form your own before you ask."
        ),
        "请先看 {count} 样东西：信号、日志或变更。提问得到的是对全部证据的判断，先有自己的判断再问。",
    ),
    "signal count": ("{count} signals", "{count} 个信号"),
    "which signals": ("'signals LAYER' or 'signals WORD' lists them.", "用 “signals 层” 或 “signals 词” 列出。"),
    "which logs": ("'log NAME TEXT' or 'grep TEXT' shows lines.", "用 “log 名称 文字” 或 “grep 文字” 查看日志行。"),
    "no signal": ("No signal {text} was measured here.", "这里没有测量信号 {text}。"),
    "cost so far": ("{cost}, so far {whole}", "{cost}，累计 {whole}"),
    "did signal": ("signal", "信号"),
    "did log": ("log", "日志"),
    "did changes": ("changes", "变更"),
    "did question": ("question", "提问"),
    "points cause": ("cause: {points} of {most}", "原因：{points}/{most}"),
    "points economy": (
        "economy: {points} of {most}; you needed {spent} min, the expert {expert} min",
        "用时：{points}/{most}；你用了 {spent} 分钟，专家 {expert} 分钟",
    ),
    "points guess": (
        "economy: {points} of {most}; you looked at nothing, so it was a guess",
        "用时：{points}/{most}；什么都没看，只算猜中",
    ),
    "partly": ("partly looked at", "部分已查"),
    "not understood": ("That was not understood: {text}", "无法理解：{text}"),
    "no question": ("There is no question or cause {text}.", "没有编号或名称为 {text} 的问题或原因。"),
    "cost": ("cost", "用时"),
    "minutes": ("{count} min", "{count} 分钟"),
    "again": ("seen before, costs nothing", "已看过，不再计时"),
    "right": ("Right: {cause}.", "正确：{cause}。"),
    "right layer": ("The layer is right, the cause is not: it was {cause}.", "层正确，原因不对：应为 {cause}。"),
    "wrong": ("No: it was {cause}.", "不对：应为 {cause}。"),
    "gave up": ("Given up. It was {cause}.", "已放弃。原因是 {cause}。"),
    "note": ("What people found out", "事后结论"),
    "yours": ("Your path", "你的路径"),
    "expert": ("The expert's path", "专家的路径"),
    "nothing asked": ("nothing looked at", "什么都没看"),
    "not found": (
        "The program itself does not find the cause in this recording, so there is no expert's path.",
        "程序本身在此录像中没有找到该原因，因此没有专家路径。",
    ),
    "score": ("Score", "得分"),
    "best": ("best", "最好"),
    "tries": ("tries", "次数"),
    "no progress": ("No drill has been finished yet.", "还没有完成任何演练。"),
    "platform": ("platform", "平台"),
    "engine": ("engine", "引擎"),
    "framework": ("framework", "框架"),
    "cuda": ("CUDA", "CUDA"),
    "hardware": ("hardware", "硬件"),
    "cleared": ("cleared", "已排除"),
    "implicated": ("implicated", "有嫌疑"),
    "not_evaluated": ("not evaluated", "未评估"),
    "rises": ("rises", "上升"),
    "falls": ("falls", "下降"),
    "steady": ("steady", "不变"),
    "root": ("root cause", "根因"),
    "consequence": ("consequence of {by}", "由 {by} 引起"),
    "contributing": ("contributing", "次要因素"),
}


def say(key: str, lang: Lang, **values: object) -> str:
    """A phrase in a language, its gaps filled."""
    return PHRASES[key][LANGS.index(lang)].format(**values)


def entry(key: str, lang: Lang, text: str) -> str:
    """A phrase with what it introduces."""
    return f"{say(key, lang)}{colon(lang)}{text}"


def colon(lang: Lang) -> str:
    """What stands before what is introduced."""
    return "：" if lang == "zh" else ": "


def comma(lang: Lang) -> str:
    """What stands between two parts."""
    return "，" if lang == "zh" else ", "
