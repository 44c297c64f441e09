/** Translated texts of the set-up's steps, about costs and failures. Empty in English, because the node has the texts. */
export const STEPS: Readonly<Record<string, string>> = {};
