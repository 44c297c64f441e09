export const now = "jetzt";
export const justNow = "gerade eben";
export const days = (count: number) => (count === 1 ? "1 Tag" : `${count} Tage`);
const dative = (age: string) => age.replace(/Tage$/, "Tagen");
export const inTime = (age: string) => `in ${dative(age)}`;
export const agoOf = (age: string) => `vor ${dative(age)}`;
