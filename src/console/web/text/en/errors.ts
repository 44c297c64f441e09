/** The page's texts for error codes (`x-error-code`). For a code without one, the page shows the node's own message, which is English. */
export const ERRORS: Readonly<Record<string, string>> = {};
