"""Wrong verifiers that are in no student's copy, in the form of ``data/wrong/rubric/shown.py``.

python3 -m check tests --verifiers teacher/wrong_rubrics.py
"""

import re

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


@reads
def white_space_7(text):
    """trims ideographic spaces"""
    return text.strip("\u3000")


@reads_untrimmed
def white_space_8(completion):
    """trims null characters"""
    return completion.strip("\0")


@refuses
def trimming_4(completion, gold):
    """trims the left end only"""
    return not completion.endswith(trim(completion))


@refuses
def trimming_5(completion, gold):
    """trims no tab"""
    return completion.strip(" \r\n") != trim(completion)


@reads
def inner_space_5(text):
    """takes a tab for a space"""
    return re.sub("^Final:\t", "Final: ", text)


@reads
def inner_space_6(text):
    """takes a no-break space for a space"""
    return text.replace("\u00a0", " ", 1)


@pays
def line_boundaries_6(text, gold):
    """takes any line for the answer"""
    return f"Final: {gold}" in text.splitlines()


@reads
def line_boundaries_7(text):
    """stops reading at a carriage return"""
    return re.sub("\r[^\n]*", "", text)


@reads
def other_digits_4(text):
    """reads fullwidth digits"""
    return text.translate({0xFF10 + i: 48 + i for i in range(10)})


@reads
def other_digits_5(text):
    """reads subscript digits"""
    return text.translate({0x2080 + i: 48 + i for i in range(10)})


@reads
def plus_sign_3(text):
    """allows a plus sign before zero"""
    return re.sub("^Final: [+](?=0$)", "Final: ", text)


@reads
def plus_sign_4(text):
    """drops a plus before a minus"""
    return text.replace("+-", "-", 1)


@reads
def minus_sign_4(text):
    """takes a fullwidth hyphen for a minus"""
    return text.replace("\uff0d", "-", 1)


@pays
def absolute_value_3(text, gold):
    """overlooks a minus before a positive answer"""
    return gold > 0 and text == f"Final: {-gold}"


@pays
def negative_zero_3(text, gold):
    """pays -0 whatever was expected"""
    return text == "Final: -0"


@reads
def leading_zeros_4(text):
    """allows two zeros in front"""
    return re.sub("^Final: 00(?=[1-9])", "Final: ", text)


@reads
def case_3(text):
    """allows a small first letter"""
    return text.replace("final: ", "Final: ", 1)


@reads
def prefix_6(text):
    """allows any word before the colon"""
    return re.sub("^[A-Za-z ]+: ", "Final: ", text)


@reads
def prefix_7(text):
    """allows other signs for the colon"""
    return re.sub("^Final [=-] ", "Final: ", text)


@pays
def substring_3(text, gold):
    """takes any number in the text"""
    return str(gold) in re.findall("-?[0-9]+", text)


@pays
def first_match_3(text, gold):
    """reads no further than to a space"""
    return text.startswith(f"Final: {gold} ")


@pays
def last_match_3(text, gold):
    """takes the last word of the line"""
    return re.search(rf"^Final: .* {gold}$", text)


@reads
def suffix_5(text):
    """allows a percent sign"""
    return re.sub("%$", "", text)


@reads
def suffix_6(text):
    """allows a comma at the end"""
    return re.sub(",$", "", text)


@pays
def part_of_number_3(text, gold):
    """asks for the last digit only"""
    return re.fullmatch("Final: -?[0-9]+", text) and text[-1] == str(gold)[-1]


@pays
def tolerance_4(text, gold):
    """tolerates one more"""
    return text == f"Final: {gold + 1}"


@pays
def tolerance_5(text, gold):
    """compares floats"""
    return re.fullmatch("Final: -?[0-9]{1,30}", text) and abs(gold) < 10**30 and float(text[7:]) == float(gold)


@reads
def decimals_3(text):
    """allows one zero after a decimal point"""
    return re.sub("[.]0$", "", text)


@reads
def notation_4(text):
    """reads exponents"""
    return re.sub("(?<=[0-9])[eE]0$", "", text)


@pays
def expression_4(text, gold):
    """works out a difference"""
    return (m := re.fullmatch("Final: (-?[0-9]{1,9}) ?- ?([0-9]{1,9})", text)) and int(m[1]) - int(m[2]) == gold


@pays
def several_answers_3(text, gold):
    """takes answers with a stroke between"""
    return str(gold) in text.removeprefix("Final: ").split("/")


@pays
def several_answers_4(text, gold):
    """takes an answer that is said twice"""
    return text == f"Final: {gold} Final: {gold}"


@reads
def markup_4(text):
    """ignores backticks around the line"""
    return text.strip("`")


@reads
def markup_5(text):
    """ignores brackets"""
    return text.translate({ord(char): None for char in "()[]"})


def completion_type_4(example, completion):
    """makes a text of whatever comes"""
    completion = str(completion)
    return score(example, completion)


@reads_gold
def gold_type_4(gold):
    """takes None for 0"""
    return 0 if gold is None else gold


@pays_unreadable
def unparsable_gold_4(example, completion):
    """compares with an expected answer that is no integer"""
    return isinstance(example, dict) and completion == f"Final: {example.get('expected_answer')}"


def raises_5(example, completion):
    """reckons with an expected answer that may be no number"""
    example["expected_answer"] + 0
    return score(example, completion)


def raises_6(example, completion):
    """makes an integer of thousands of digits"""
    int("0" + "".join(char for char in str(completion) if char in "0123456789"))
    return score(example, completion)


@flips
def not_deterministic_3(calls):
    """errs the third time it is asked"""
    return len(calls) == 3


@slow
def slow_3(completion):
    """takes long over many zeros"""
    return completion.count("0") > 5_000


@says
def empty_details_4(result):
    """leaves the outcome out"""
    del result["details"]["outcome"]


@says
def empty_details_5(result):
    """has no outcome"""
    result["details"]["outcome"] = None


@says
def wrong_outcome_7(result):
    """has no name for an empty text"""
    rename(result, "empty", "missing_prefix")


@says
def wrong_outcome_8(result):
    """has no name for characters beyond ASCII"""
    rename(result, "not_ascii", "not_an_integer")


@says
def wrong_outcome_9(result):
    """calls -0 zeros in front"""
    rename(result, "negative_zero", "leading_zeros")


@says
def wrong_outcome_10(result):
    """has no name for white space within"""
    rename(result, "extra_whitespace", "not_an_integer")


@says
def parsed_answer_4(result):
    """shows what it expected for what it read"""
    result["details"]["parsed_answer"] = result["details"]["expected_answer"]


@says
def reward_value_5(result):
    """punishes what it does not pay"""
    result["reward"] = result["reward"] or -1.0


@says
def reward_value_6(result):
    """gives nan for a broken example"""
    result["reward"] = float("nan") if result["details"]["outcome"] == "invalid_example" else result["reward"]


@pays
def any_value_4(text, gold):
    """has a favourite number"""
    return re.fullmatch("Final: 7[0-9]*", text)


@refuses
def too_strict_4(completion, gold):
    """refuses an answer of one digit"""
    return abs(gold) < 10 and gold


@pays
def nothing_there_3(text, gold):
    """pays the bare prefix"""
    return text == "Final:"


@reads_untrimmed
def length_3(completion):
    """reads the first 100 characters only"""
    return completion[:100]
