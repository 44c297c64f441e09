import { ToolError } from "../node-call.ts";
import type { NativeChannel, NativeUser } from "../records.ts";
import type { Page, ToolContext } from "../tool.ts";
import { DOCS_PAGES } from "./docs-pages.embedded.ts";

/** Arguments of prompts and templates. */
export type ArgumentName = "channel" | "user" | "cast" | "note" | "page" | "hash";

const ROWS = 10;
const MAX_CHARS = 64;
/** Names and ids, which are too restricted to contain a sentence. */
const NAME = /^[\w.-]{1,64}$/;

/** Returns possible completions of an argument: usernames, channel ids, pages. Empty for values that cannot be looked up. */
export async function complete(argument: string, value: string, context: ToolContext): Promise<string[]> {
  if (argument === "page") return Object.keys(DOCS_PAGES).filter((page) => page.includes(value));
  if (value.trim() === "" || value.length > MAX_CHARS) return [];
  try {
    if (argument === "user") return (await usersLike(value, context)).filter((name) => NAME.test(name));
    if (argument === "channel") return (await channelsLike(value, context)).filter((id) => NAME.test(id));
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
  }
  return [];
}

async function usersLike(q: string, context: ToolContext): Promise<string[]> {
  const { users } = await context.get<Page<"users", NativeUser>>("/user/search", { q, limit: ROWS });
  return users.flatMap(({ username }) => username ?? []);
}

async function channelsLike(q: string, context: ToolContext): Promise<string[]> {
  const { channels } = await context.get<Page<"channels", NativeChannel>>("/channel/search", {
    q,
    limit: ROWS,
  });
  return channels.map(({ id }) => id);
}
