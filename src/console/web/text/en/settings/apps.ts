/** What settings are for in other words, by their key; in English the node has the text. */
export const APPS: Readonly<Record<string, string>> = {};
