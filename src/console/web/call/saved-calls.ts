import { signal } from "@preact/signals";
import type { Call } from "../data/call.ts";
import { callLink } from "./call-link.ts";

/** A call that was run here. The browser has the list, the node does not. */
export interface SavedCall {
  /** The link of the call, which has no secrets. */
  readonly link: string;
  readonly method: string;
  readonly path: string;
  /** 0: no response. */
  readonly status: number;
  readonly ms: number;
  /** Unix seconds. */
  readonly at: number;
}

const KEY = "calls";
const MAX_CALLS = 50;

function isSaved(value: unknown): value is SavedCall {
  const { link, method, path, status, ms, at } = Object(value) as Record<string, unknown>;
  return (
    [link, method, path].every((one) => typeof one === "string") &&
    [status, ms, at].every((one) => Number.isFinite(one)) &&
    String(link).startsWith("/console/call#")
  );
}

function read(): readonly SavedCall[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(stored) ? stored.filter(isSaved).slice(0, MAX_CALLS) : [];
  } catch {
    return [];
  }
}

export const savedCalls = signal(read());

function store(calls: readonly SavedCall[]): void {
  savedCalls.value = calls;
  try {
    localStorage.setItem(KEY, JSON.stringify(calls));
  } catch {
    // A browser that stores nothing shows the list until the page is left.
  }
}

/** Puts a call at the head of the list; the same one from before moves there. */
export function saveCall(call: Call, { status, ms }: Pick<SavedCall, "status" | "ms">): void {
  const link = callLink(call);
  const path = new URLSearchParams(link.slice(link.indexOf("#") + 1)).get("call")?.replace(/^\w+ /, "") ?? "";
  const saved = { link, method: call.method, path, status, ms, at: Math.floor(Date.now() / 1000) };
  store([saved, ...savedCalls.peek().filter((one) => one.link !== link)].slice(0, MAX_CALLS));
}

export const forgetCalls = () => store([]);
