/** Translated meanings of settings, by key. Empty in English, because the node has the texts. */
export const SERVING: Readonly<Record<string, string>> = {};
