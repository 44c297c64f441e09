export const now = "jetzt";
export const justNow = "gerade eben";
export const inTime = (age: string) => `in ${age}`;
export const agoOf = (age: string) => `vor ${age}`;
