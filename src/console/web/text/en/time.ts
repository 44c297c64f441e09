// text/format.ts
export const now = "now";
export const justNow = "just now";
export const days = (count: number) => `${count} d`;
export const inTime = (age: string) => `in ${age}`;
export const agoOf = (age: string) => `${age} ago`;
