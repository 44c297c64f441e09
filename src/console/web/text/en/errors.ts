/**
 * What the page says for the code of an error (`x-error-code`). Without a text here it shows the node's own message, which is English.
 */
export const ERRORS: Readonly<Record<string, string>> = {};
