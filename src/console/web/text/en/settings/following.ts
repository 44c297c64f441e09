/** What settings are for in other words, by their key; in English the node has the text. */
export const FOLLOWING: Readonly<Record<string, string>> = {};
