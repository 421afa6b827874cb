"""The numbers of Loops A and B and of the gate."""

from course import gate, stats
from course.artifacts import summary
from course.reports import gate as gate_report
from course.reports import run_page, validate_scorer
from course.score import measure
from docs.taken_from_code.metric import Metric, shown

MEASURED = (
    Metric(
        ["reward"],
        "1 if trimmed, in format and of the right value, else 0",
        measure,
        "never",
        "whether the text means the right number",
    ),
    Metric(
        ["pass_rate", "mean_reward", "passes", "n"],
        "$c/n$, passes by examples",
        summary.summary_of,
        "no rows: the run is refused",
        "pass@k; a policy's expected reward",
    ),
    Metric(
        ["pass_rate_ci95", "95 %"],
        r"$\frac{p + z^2/2n \pm z\sqrt{p(1-p)/n + z^2/4n^2}}{1 + z^2/n}$, $z = 1.96$ (Wilson)",
        stats.wilson_interval,
        "n = 0",
        "the interval of a difference; p ± 1.96 standard errors",
        lambda: f"20 of 20: {shown(*stats.wilson_interval(20, 20))}",
    ),
    Metric(
        ["outcomes", "families"],
        "counts of rows",
        summary.summary_of,
        "never",
        "rates; an outcome that did not occur is left out",
    ),
    Metric(
        ["points above, below"],
        "100 · value − prediction",
        run_page.points_off,
        "the expectation is words, or there is no one number",
        "a difference between two runs",
    ),
    Metric(
        ["false positives", "false negatives"],
        "golden cases that are wrong and paid; right and not paid",
        validate_scorer.confusion_text,
        "there is no such case",
        "rates among real completions: these cases were chosen, not sampled",
    ),
)
CHOSEN = (
    Metric(
        ["first_sample_accuracy"],
        "share of prompts whose first sample is right",
        summary.selection_numbers,
        "never",
        "pass@1, which takes all samples",
    ),
    Metric(
        ["pass_at_k"],
        r"mean of $1 - \binom{n-c}{k}/\binom{n}{k}$, n samples of a prompt, c right ones",
        stats.pass_at_k,
        "k > n",
        r"$1-(1-c/n)^k$, which is biased; the selected accuracy",
        lambda: f"n 4, c 1, k 2: {shown(stats.pass_at_k(4, 1, 2))}",
    ),
    Metric(
        ["selected_accuracy"],
        "share of prompts whose chosen sample is right",
        summary.selection_numbers,
        "never",
        "a number of the policy: `pick_best` has its part in it",
    ),
    Metric(
        ["random_choice"],
        "mean share of right samples among the N",
        summary.selection_numbers,
        "never",
        "the first sample",
    ),
    Metric(
        ["ceiling"],
        "share of prompts with a right one among the N",
        summary.selection_numbers,
        "never",
        "pass@N, which takes all samples there are",
    ),
    Metric(
        ["kl_estimate"],
        r"mean of $q\ln\frac{q}{p} + (1-q)\ln\frac{1-q}{1-p}$, $q = 1-(1-p)^N$, $p = c/n$",
        stats.best_of_n_kl,
        "the choice was not the first of the best everywhere",
        "the bound; a KL after learning",
        lambda: f"p 0.5, N 4: {shown(stats.best_of_n_kl(0.5, 4))}",
    ),
    Metric(
        ["kl_bound"],
        r"$\ln N - (N-1)/N$",
        stats.best_of_n_kl_bound,
        "never",
        "the KL itself, which is smaller",
        lambda: f"N 4: {shown(stats.best_of_n_kl_bound(4))}",
    ),
)
COMPARED = (
    Metric(
        ["gained", "lost"],
        "examples that pass only in the candidate; only in the baseline",
        gate.compare,
        "the runs cannot be compared",
        "passes",
    ),
    Metric(
        ["delta", "difference"], "(gained − lost) / n", gate.Flips, "the runs cannot be compared", "a ratio of rates"
    ),
    Metric(
        ["delta_ci95"],
        r"$d \pm z\sqrt{(a+b-d^2)/(n+2)}$, $a=\frac{g+1}{n+2}$, $b=\frac{l+1}{n+2}$, $d=a-b$",
        stats.paired_interval,
        "the runs cannot be compared",
        "two Wilson intervals side by side: pairing is what makes it narrow",
        lambda: f"6 gained, 0 lost, n 60: {shown(*stats.paired_interval(6, 0, 60))}",
    ),
    Metric(
        ["mcnemar_p"],
        r"$\min(1, 2\sum_{i \le \min(g,l)}\binom{m}{i}/2^m)$, $m = g + l$",
        stats.mcnemar_exact,
        "never; without a flip it is 1",
        "the chance that the candidate is better",
        lambda: f"6 gained, 0 lost: {shown(stats.mcnemar_exact(6, 0))}",
    ),
    Metric(
        ["net_flips_needed"],
        "the smallest gained − lost, at the lost there are, with p < 0.05 and ≥ min-delta · n",
        gate.net_flips_needed,
        "the runs cannot be compared",
        "gained",
        lambda: f"0 lost: {stats.flips_needed(0)}",
    ),
    Metric(
        ["discordance"],
        "(gained + lost + 2) / (n + 2)",
        gate.comparison_numbers,
        "the runs cannot be compared",
        "the difference",
    ),
    Metric(
        ["smallest_visible_difference", "power"],
        r"$(z + z_{0.8})\sqrt{\omega^2/n}$, $\omega^2$ the discordance",
        stats.smallest_visible_difference,
        "larger than the discordance: nothing would show",
        "the difference seen",
        lambda: f"n 80, discordance 0.25: {shown(stats.smallest_visible_difference(80, 0.25))}",
    ),
    Metric(
        ["promoted by luck in up to"],
        r"$1 - 0.975^k$, k runs of this room but one",
        gate_report.tries_sentence,
        "fewer than three runs",
        "p of one comparison",
        lambda: f"20 candidates: {shown(1 - gate_report.NO_LUCK**20)}",
    ),
    Metric(
        ["tries", "holdout_looks"],
        "lines of the log of this room; lines that opened this holdout",
        gate.examine,
        "looks: only for a holdout",
        "runs that are still there",
    ),
)
