import { useEffect, useState } from "preact/hooks";

/** Returns the texts of checks in the visitor's language. They load with the first incident, because most nodes have none. */
export function useCheckTexts(isNeeded = true): Readonly<Record<string, string>> {
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>({});
  useEffect(() => {
    if (isNeeded) void import("../text/en/checks.ts").then(({ CHECKS }) => setTexts(CHECKS));
  }, [isNeeded]);
  return texts;
}
