/** What the checks of the set-up find and advise, in other words, with `{}` for each value; in English the node has the text. */
export const DOCTOR: Readonly<Record<string, string>> = {};
