// Of the pages' scripts: npm run --prefix docs check. A page's script is several files, so the types find what is
// defined nowhere, and tests/pages what a live page holds and does not use.
import js from "@eslint/js";

const asHtml = ["innerHTML", "outerHTML", "insertAdjacentHTML", "setHTMLUnsafe", "write", "writeln", "srcdoc"];

export default [
  js.configs.recommended,
  {
    languageOptions: { sourceType: "script", ecmaVersion: 2024 },
    rules: {
      "no-undef": "off",
      "no-unused-vars": ["error", { vars: "local" }],
      eqeqeq: "error",
      "no-eval": "error",
      "no-implied-eval": "error",
      "no-new-func": "error",
      "no-restricted-properties": [
        "error",
        ...asHtml.map((property) => ({ property, message: "Text of data reaches a page through textContent only." })),
      ],
    },
  },
];
