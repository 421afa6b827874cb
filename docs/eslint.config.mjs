// Of the pages' one script: npm run --prefix docs check. What is defined nowhere, the types find.
import js from "@eslint/js";

const asHtml = ["innerHTML", "outerHTML", "insertAdjacentHTML", "setHTMLUnsafe", "write", "writeln", "srcdoc"];

export default [
  js.configs.recommended,
  {
    languageOptions: { sourceType: "script", ecmaVersion: 2024 },
    rules: {
      "no-undef": "off",
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
