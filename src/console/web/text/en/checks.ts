/** What the node says of incidents and what to do, in other words, with `{}` for each value. */
export const CHECKS: Readonly<Record<string, string>> = {};
