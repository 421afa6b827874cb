"""Machinery: texts that a page must show and never obey. Each would set a mark, or ask an address, if it were run."""


def hostile_texts(address: str = "http://127.0.0.1:9") -> list[str]:
    mark = "document.documentElement.dataset.ran=1;document.title='RAN'"
    ask = f"fetch('{address}/ran')"
    return [
        f"<script>{mark};{ask}</script>",
        f"</script><script>{mark}</script>",
        f"</SCRIPT ><script src={address}/src></script>",
        f"<!--<script>{mark}//-->",
        "<!--<script>",
        "-->",
        "]]><![CDATA[",
        f'<img src={address}/img onerror="{mark}">',
        f'"><svg onload="{mark}"><animate onbegin="{mark}">',
        f"' autofocus onfocus=\"{mark}\" x='",
        f'<a href="javascript:{mark}">x</a><iframe srcdoc="<script>{mark}</script>"></iframe>',
        f"<style>*{{background:url({address}/css)}}</style>",
        f"</style><link rel=stylesheet href={address}/link>",
        f"@import '{address}/import';",
        f'<meta http-equiv="refresh" content="0;url={address}/meta"><base href="{address}/">',
        f'<form action="{address}/form"><input autofocus formaction="{address}"><button>x</button></form>',
        "&lt;script&gt;&#x3c;script&#x3e;&amp;",
        "${alert(1)}`{{7*7}}{% raw %}",
        "\u202e\u2066Final: 1\u2069\u202c\u200f",
        "Final: \u200b1\u00ad\ufeff\U000e0041",
        "\x00\x01\x1b[31m\x7f\x85\u2028\u2029\r\n\t",
        "Final: \uff11\u0661",
        "  Final: 1  ",
        "__proto__",
        "constructor",
        "",
    ]
