/** Translated meanings of settings, by key. Empty in English, because the node has the texts. */
export const FOLLOWING: Readonly<Record<string, string>> = {};
