/** Valid values of settings in other words, with `{}` for each number; in English the node has the text. */
export const RULES: Readonly<Record<string, string>> = {};
