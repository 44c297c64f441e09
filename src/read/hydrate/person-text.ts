import { foldedWords } from "../../db/index/search/people-words.ts";

/**
 * The text of a person in the form in which a search compares it: words separated by spaces, with a space before the first
 * and after the last.
 */
export interface PersonText {
  /** The username, if the person owns the one that the profile declares; otherwise empty. */
  readonly username: string;
  readonly usernameWords: string;
  readonly displayWords: string;
  readonly bioWords: string;
}

/** Folds the text of a person. `username` is null if the person owns none. */
export function personText(profile: {
  readonly username: string | null;
  readonly display: string | null;
  readonly bio: string | null;
}): PersonText {
  return {
    username: profile.username ?? "",
    usernameWords: spaced(profile.username),
    displayWords: spaced(profile.display),
    bioWords: spaced(profile.bio),
  };
}

function spaced(text: string | null): string {
  return text === null ? "" : ` ${foldedWords(text).join(" ")} `;
}
