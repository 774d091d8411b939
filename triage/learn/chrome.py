"""What the learning commands say themselves, in both languages. Lessons and questions come from data instead."""

from triage.learn.texts import LANGS, Lang

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
    "verdict": ("verdict", "判定"),
    "present": ("present", "存在"),
    "absent": ("absent", "不存在"),
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
    "level 0": ("TO BEGIN WITH", "从这里开始"),
    "level 1": ("EASY", "入门"),
    "level 2": ("MIDDLE", "进阶"),
    "level 3": ("HARD", "困难"),
    "lines with": ("log lines with {text!r}", "含 {text!r} 的日志行"),
    "lines": ("log lines", "日志行"),
    "line count": ("{count} lines", "{count} 行"),
    "changes": ("changes to the service", "服务的变更"),
    "seen": ("seen", "有"),
    "none seen": ("none seen", "未见到"),
    "more subjects": ("and {count} more", "另有 {count} 个"),
    "done": ("Done. 'triage learn list' shows what else there is.", "完成。用 “triage learn list” 查看其余课程。"),
    "drill": ("Drill {number}", "演练 {number}"),
    "symptoms": ("What users notice", "用户注意到的"),
    "no symptoms": (
        "Of what is measured, no promise to users is clearly broken; yet somebody called.",
        "在已测量的范围内，没有明显违背的承诺；但有人报告了问题。",
    ),
    "known": ("What is known of the service", "已知的服务信息"),
    "layers": ("Layers", "层"),
    "help": (
        "A layer's name or number (1-5) lists its questions; 'ask 12' asks one; 'cause 12' or 'cause ID' names it; 'quit' ends.",
        "输入层的名称或编号（1-5） 列出其问题；“ask 12” 提问；“cause 12” 或 “cause ID” 指出原因；“quit” 放弃。",
    ),
    "not understood": ("That was not understood: {text}", "无法理解：{text}"),
    "no question": ("There is no question or cause {text}.", "没有编号或名称为 {text} 的问题或原因。"),
    "cost": ("cost", "花费"),
    "minutes": ("{count} min", "{count} 分钟"),
    "so far": ("so far", "累计"),
    "again": ("asked before, costs nothing", "已问过，不再花费"),
    "right": ("Right: {cause}.", "正确：{cause}。"),
    "right layer": ("The layer is right, the cause is not: it was {cause}.", "层正确，原因不对：应为 {cause}。"),
    "wrong": ("No: it was {cause}.", "不对：应为 {cause}。"),
    "gave up": ("Given up. It was {cause}.", "已放弃。原因是 {cause}。"),
    "note": ("What people found out", "事后结论"),
    "yours": ("Your path", "你的路径"),
    "expert": ("The expert's path", "专家的路径"),
    "nothing asked": ("nothing asked", "没有提问"),
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
    return f"{say(key, lang)}{'：' if lang == 'zh' else ': '}{text}"
