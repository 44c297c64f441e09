/** Cases of a refusal, named by the message that they expect; a repeated message gets a number. */
export function namedByMessage<T>(
  cases: readonly (readonly [input: T, message: string])[],
): [name: string, input: T, message: string][] {
  const uses = new Map<string, number>();
  return cases.map(([input, message]) => {
    const use = (uses.get(message) ?? 0) + 1;
    uses.set(message, use);
    return [use === 1 ? message : `${message} (${use})`, input, message];
  });
}

/** Returns a value as JSON of at most 60 characters. */
export function shortJson(value: unknown): string {
  const characters = [...(JSON.stringify(value) ?? String(value))];
  return characters.length > 60 ? `${characters.slice(0, 60).join("")}…` : characters.join("");
}
