"""Wrong verifiers that ``python3 -m check tests`` names: the scorer but for one mistake each.

The docstring of each ends the sentence "your test agrees with a verifier that ...". ``check/versions.py`` says what the
decorators do: ``text`` is the completion as the spec trims it, and ``gold`` the expected answer.
"""

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
def white_space_1(completion):
    """trims every white space that Python knows"""
    return completion.strip()


@reads_untrimmed
def white_space_2(completion):
    """trims no-break spaces too"""
    return completion.strip("\u00a0 \t\r\n")


@refuses
def trimming_1(completion, gold):
    """trims nothing"""
    return trim(completion) != completion


@reads
def inner_space_1(text):
    """takes several spaces after the colon for one"""
    return re.sub("^Final: +", "Final: ", text)


@reads
def inner_space_2(text):
    """ignores spaces between digits"""
    return re.sub("(?<=[0-9]) +(?=[0-9])", "", text)


@reads
def line_boundaries_1(text):
    """reads the last line only"""
    return text.split("\n")[-1]


@reads
def line_boundaries_2(text):
    """does not see a line separator"""
    return text.replace("\u2028", "")


@reads
def other_digits_1(text):
    """reads the digits of every script"""
    return "".join(str(unicodedata.decimal(char, char)) for char in text)


@reads
def plus_sign_1(text):
    """allows a plus sign"""
    return text.replace("Final: +", "Final: ", 1)


@reads
def minus_sign_1(text):
    """takes U+2212 for a minus"""
    return text.replace("\u2212", "-", 1)


@pays
def absolute_value_1(text, gold):
    """compares absolute values"""
    return text == f"Final: {-gold}"


@pays
def negative_zero_1(text, gold):
    """takes -0 for 0"""
    return gold == 0 and text == "Final: -0"


@reads
def leading_zeros_1(text):
    """ignores zeros in front"""
    return re.sub("^Final: 0+(?=[0-9])", "Final: ", text)


@reads
def case_1(text):
    """ignores case"""
    return re.sub("(?i)^final: ", "Final: ", text)


@reads
def prefix_1(text):
    """needs no prefix"""
    return re.sub("^(?=-?[0-9])", "Final: ", text)


@reads
def prefix_2(text):
    """takes Answer for Final"""
    return re.sub("^Answer: ", "Final: ", text)


@pays
def substring_1(text, gold):
    """looks for the answer anywhere in the text"""
    return str(gold) in text


@pays
def first_match_1(text, gold):
    """takes the first number there is"""
    return str(gold) == (re.findall("-?[0-9]+", text) or [""])[0]


@pays
def last_match_1(text, gold):
    """takes the last number there is"""
    return str(gold) == (re.findall("-?[0-9]+", text) or [""])[-1]


@reads
def suffix_1(text):
    """allows a unit after the number"""
    return re.sub("(?<=[0-9]) [a-z ]+$", "", text)


@reads
def suffix_2(text):
    """allows a full stop at the end"""
    return re.sub("[.]$", "", text)


@pays
def part_of_number_1(text, gold):
    """asks only how the number ends"""
    return re.fullmatch(rf"Final: -?[0-9]*{abs(gold)}", text)


@pays
def tolerance_1(text, gold):
    """tolerates a difference of one"""
    return text in (f"Final: {gold - 1}", f"Final: {gold + 1}")


@reads
def decimals_1(text):
    """allows zeros after a decimal point"""
    return re.sub("[.]0+$", "", text)


@reads
def notation_1(text):
    """allows underscores between digits"""
    return re.sub("(?<=[0-9])_(?=[0-9])", "", text)


@pays
def expression_1(text, gold):
    """works out a sum"""
    return (m := re.fullmatch("Final: (-?[0-9]{1,9}) ?[+] ?([0-9]{1,9})", text)) and int(m[1]) + int(m[2]) == gold


@pays
def several_answers_1(text, gold):
    """takes any of several answers"""
    return str(gold) in text.removeprefix("Final: ").split(", ")


@reads
def markup_1(text):
    """ignores stars around the line"""
    return text.strip("*")


def completion_type_1(example, completion):
    """takes None for an empty text"""
    completion = "" if completion is None else completion
    return score(example, completion)


@reads_gold
def gold_type_1(gold):
    """takes a text for an expected answer"""
    return int(gold) if type(gold) is str and re.fullmatch("[0-9]{1,1000}", gold) else gold


@pays_unreadable
def unparsable_gold_1(example, completion):
    """pays any number where the expected answer cannot be read"""
    return type(completion) is str and re.fullmatch("Final: -?[0-9]+", completion)


def raises_1(example, completion):
    """makes an integer of the text before it looks at the format"""
    int(completion.removeprefix("Final: "))
    return score(example, completion)


def raises_2(example, completion):
    """looks at the first character of a text that may have none"""
    completion[0]
    return score(example, completion)


@flips
def not_deterministic_1(calls):
    """answers otherwise every second time"""
    return len(calls) % 2 == 0


@slow
def slow_1(completion):
    """takes long over a long text"""
    return len(completion) > 5_000


@says
def empty_details_1(result):
    """gives no details"""
    result["details"] = {}


@says
def wrong_outcome_1(result):
    """calls a wrong value a fault of the format"""
    rename(result, "wrong_answer", "not_an_integer")


@says
def wrong_outcome_2(result):
    """calls a missing prefix more than one line"""
    rename(result, "missing_prefix", "not_single_line")


@says
def parsed_answer_1(result):
    """counts digits where it should show what it read"""
    result["details"]["parsed_answer"] = len(result["details"]["parsed_answer"] or "")


@says
def reward_value_1(result):
    """gives True and False for rewards"""
    result["reward"] = bool(result["reward"])


@says
def reward_value_2(result):
    """pays half for the format"""
    result["reward"] = 0.5 if result["details"]["outcome"] == "wrong_answer" else result["reward"]


@pays
def any_value_1(text, gold):
    """never looks at the value"""
    return re.fullmatch("Final: (0|-?[1-9][0-9]*)", text)


@refuses
def too_strict_1(completion, gold):
    """refuses a negative answer"""
    return gold < 0


@pays
def nothing_there_1(text, gold):
    """pays an empty text"""
    return text == ""


@reads_untrimmed
def length_1(completion):
    """reads the first 500 characters only"""
    return completion[:500]
