/** Translated descriptions of valid values, with `{}` for each number. Empty in English, because the node has the texts. */
export const RULES: Readonly<Record<string, string>> = {};
