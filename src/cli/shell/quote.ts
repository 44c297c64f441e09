/** A word of bash, zsh and fish that stands for exactly this text. Backslashes do not occur in what is quoted here. */
export const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** The first sentence of a description, without its mark: what fits beside a word. */
export function firstSentence(description: string): string {
  const [sentence = ""] = description.split(/(?<=\.)\s|[;:]\s|\s\(default/);
  return sentence.replace(/\.$/, "").replaceAll(/\s+/g, " ");
}
