"""Wrong verifiers that the check counts and never names. Do not read them: write your tests from the spec."""

import re
import unicodedata

from check.versions import (
    flips,
    pays,
    pays_unreadable,
    reads,
    reads_gold,
    reads_untrimmed,
    refuses,
    rename,
    says,
    slow,
    trim,
)
from course.score import score


@reads_untrimmed
def white_space_4(completion):
    """drops a byte order mark in front"""
    return completion.lstrip("\ufeff")


@reads_untrimmed
def white_space_5(completion):
    """trims zero width spaces"""
    return completion.strip("\u200b")


@reads
def white_space_6(text):
    """trims form feeds at the end"""
    return text.rstrip("\v\f")


@refuses
def trimming_2(completion, gold):
    """trims the right end only"""
    return not completion.startswith(trim(completion))


@refuses
def trimming_3(completion, gold):
    """trims spaces, and no tab or line feed"""
    return completion.strip(" ") != trim(completion)


@reads
def inner_space_3(text):
    """needs no space after the colon"""
    return re.sub("^Final:(?=[-0-9])", "Final: ", text)


@reads
def inner_space_4(text):
    """allows a space before the colon"""
    return text.replace("Final :", "Final:", 1)


@reads
def line_boundaries_3(text):
    """reads the first line only"""
    return text.split("\n")[0]


@reads
def line_boundaries_4(text):
    """takes a line feed for a space"""
    return text.replace("\n", " ")


@reads
def line_boundaries_5(text):
    """does not know U+0085 for the end of a line"""
    return text.rstrip("\x85")


@reads
def other_digits_2(text):
    """normalises its text (NFKC)"""
    return unicodedata.normalize("NFKC", text)


@reads
def other_digits_3(text):
    """reads Arabic-Indic digits"""
    return text.translate({0x660 + i: 48 + i for i in range(10)})


@reads
def plus_sign_2(text):
    """drops a fullwidth plus sign"""
    return text.replace("\uff0b", "", 1)


@reads
def minus_sign_2(text):
    """takes a dash for a minus"""
    return text.replace("\u2013", "-", 1)


@reads
def minus_sign_3(text):
    """lets two minus signs cancel out"""
    return text.replace("--", "", 1)


@pays
def absolute_value_2(text, gold):
    """needs no minus where the answer is negative"""
    return gold < 0 and text == f"Final: {-gold}"


@pays
def negative_zero_2(text, gold):
    """takes a minus and any number of zeros for 0"""
    return gold == 0 and re.fullmatch("Final: -0+", text)


@reads
def leading_zeros_2(text):
    """allows one zero in front"""
    return re.sub("^Final: 0(?=[1-9])", "Final: ", text)


@reads
def leading_zeros_3(text):
    """allows zeros after a minus"""
    return re.sub("^Final: -0+(?=[1-9])", "Final: -", text)


@reads
def case_2(text):
    """allows FINAL in capitals"""
    return text.replace("FINAL: ", "Final: ", 1)


@reads
def prefix_3(text):
    """allows words before the prefix"""
    return text[max(text.find("Final: "), 0) :]


@reads
def prefix_4(text):
    """needs no colon"""
    return re.sub("^Final (?=-?[0-9])", "Final: ", text)


@reads
def prefix_5(text):
    """allows a longer prefix"""
    return re.sub("^Final answer: ", "Final: ", text)


@pays
def substring_2(text, gold):
    """looks for the right line anywhere in the text"""
    return f"Final: {gold}" in text


@pays
def first_match_2(text, gold):
    """reads on no further than the first number"""
    return re.match(rf"Final: {gold}\b", text)


@reads
def last_match_2(text):
    """takes what follows the last prefix"""
    return "Final: " + text.split("Final: ")[-1] if text.startswith("Final: ") else text


@reads
def suffix_3(text):
    """allows an exclamation mark at the end"""
    return re.sub("[!?]$", "", text)


@reads
def suffix_4(text):
    """allows a remark in brackets"""
    return re.sub(" [(].*[)]$", "", text)


@pays
def part_of_number_2(text, gold):
    """asks only how the number begins"""
    return re.fullmatch(rf"Final: {gold}[0-9]*", text)


@pays
def tolerance_2(text, gold):
    """tolerates one per cent"""
    return re.fullmatch("Final: -?[0-9]{1,18}", text) and abs(int(text[7:]) - gold) <= abs(gold) // 100


@pays
def tolerance_3(text, gold):
    """tolerates a factor of ten"""
    return text == f"Final: {gold * 10}"


@reads
def decimals_2(text):
    """cuts decimals off"""
    return re.sub("(?<=[0-9])[.][0-9]+$", "", text)


@reads
def notation_2(text):
    """allows commas between digits"""
    return re.sub("(?<=[0-9]),(?=[0-9])", "", text)


@pays
def notation_3(text, gold):
    """reads hexadecimal numbers"""
    return text == f"Final: {hex(gold)}"


@pays
def expression_2(text, gold):
    """works out a product"""
    return (m := re.fullmatch("Final: (-?[0-9]{1,9}) ?[*] ?([0-9]{1,9})", text)) and int(m[1]) * int(m[2]) == gold


@pays
def expression_3(text, gold):
    """works out a quotient"""
    return (m := re.fullmatch("Final: (-?[0-9]{1,9}) ?/ ?([1-9][0-9]{0,8})", text)) and int(m[1]) == gold * int(m[2])


@pays
def several_answers_2(text, gold):
    """takes either of two answers"""
    return str(gold) in text.removeprefix("Final: ").split(" or ")


@reads
def markup_2(text):
    """ignores dollar signs"""
    return text.replace("$", "")


@reads
def markup_3(text):
    """ignores quotes around the line"""
    return text.strip('"')


def completion_type_2(example, completion):
    """takes an integer for a completion"""
    completion = f"Final: {completion}" if type(completion) is int else completion
    return score(example, completion)


def completion_type_3(example, completion):
    """takes the first of a list of completions"""
    completion = completion[0] if type(completion) is list and completion else completion
    return score(example, completion)


@reads_gold
def gold_type_2(gold):
    """takes True for 1"""
    return 1 if gold is True else gold


@reads_gold
def gold_type_3(gold):
    """takes a float for an expected answer"""
    return int(gold) if type(gold) is float and gold.is_integer() else gold


@pays_unreadable
def unparsable_gold_2(example, completion):
    """pays whatever comes where the expected answer cannot be read"""
    return True


@pays_unreadable
def unparsable_gold_3(example, completion):
    """pays where no answer is expected"""
    return isinstance(example, dict) and example.get("expected_answer") is None


def raises_3(example, completion):
    """trims what may be no text"""
    completion.strip()
    return score(example, completion)


def raises_4(example, completion):
    """encodes a text that may not be ASCII"""
    str(completion).encode("ascii")
    return score(example, completion)


@flips
def not_deterministic_2(calls):
    """answers otherwise where it has seen the text before"""
    return calls.count(calls[-1]) > 1


@slow
def slow_2(completion):
    """takes long over many spaces"""
    return completion.count(" ") > 5_000


@says
def empty_details_2(result):
    """gives None for its details"""
    result["details"] = None


@says
def empty_details_3(result):
    """does not say which checks it made"""
    result["details"]["checks"] = {}


@says
def wrong_outcome_3(result):
    """calls more than one line a missing prefix"""
    rename(result, "not_single_line", "missing_prefix")


@says
def wrong_outcome_4(result):
    """has no name for a plus sign"""
    rename(result, "plus_sign", "not_an_integer")


@says
def wrong_outcome_5(result):
    """calls zeros in front a wrong value"""
    rename(result, "leading_zeros", "wrong_answer")


@says
def wrong_outcome_6(result):
    """calls a broken example a wrong answer"""
    rename(result, "invalid_example", "wrong_answer")


@says
def parsed_answer_2(result):
    """shows what it read only where it pays"""
    result["details"]["parsed_answer"] = result["details"]["parsed_answer"] if result["reward"] else None


@says
def parsed_answer_3(result):
    """does not show what it expected"""
    result["details"]["expected_answer"] = None


@says
def reward_value_3(result):
    """gives integers for rewards"""
    result["reward"] = int(result["reward"])


def reward_value_4(example, completion):
    """pays a tenth for the prefix"""
    result = score(example, completion)
    result["reward"] = max(result["reward"], 0.1 * str(completion).startswith("Final: "))
    return result


@pays
def any_value_2(text, gold):
    """pays zero whatever was expected"""
    return text == "Final: 0"


@pays
def any_value_3(text, gold):
    """counts digits instead of comparing them"""
    return re.fullmatch("Final: -?[0-9]+", text) and len(text) == len(f"Final: {gold}")


@refuses
def too_strict_2(completion, gold):
    """refuses zero"""
    return gold == 0


@refuses
def too_strict_3(completion, gold):
    """refuses a long answer"""
    return abs(gold) >= 10**9


@pays
def nothing_there_2(text, gold):
    """pays a text without digits"""
    return not re.search("[0-9]", text)


@reads_untrimmed
def length_2(completion):
    """reads the last 50 characters only"""
    return completion[-50:]
