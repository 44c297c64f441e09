import { get } from "../data/call.ts";
import type { Cast, User } from "../data/objects.ts";
import { RequestFailure, request } from "../data/request.ts";
import { castPage, pageOfPerson } from "../text/client-urls.ts";
import type { SearchEntry } from "../text/search-entry.ts";

/** What an entry of the search box opens: a page, several people of one address, or nothing. */
export interface Resolved {
  readonly page?: string;
  readonly people?: readonly User[];
}

/** Returns undefined for a response that says that there is nothing. */
async function ask<T>(
  path: string,
  params: Record<string, string>,
  signal: AbortSignal,
): Promise<T | undefined> {
  try {
    return await request<T>(get(path, params), { signal });
  } catch (cause) {
    if (cause instanceof RequestFailure && (cause.status === 404 || cause.status === 400)) return undefined;
    throw cause;
  }
}

/**
 * Looks up what an entry names: a cast by hash or URL, or the people of an address. Throws `RequestFailure`.
 */
export async function resolveEntry(entry: SearchEntry, signal: AbortSignal): Promise<Resolved> {
  switch (entry.kind) {
    case "page":
      return { page: entry.page };
    case "url": {
      const found = await ask<{ cast: Cast }>("/cast", { identifier: entry.url, type: "url" }, signal);
      return found ? { page: castPage(found.cast.hash) } : {};
    }
    case "hex20": {
      const found = await ask<{ cast: Cast }>("/cast", { identifier: entry.hex }, signal);
      return found ? { page: castPage(found.cast.hash) } : peopleOf(entry.hex, signal);
    }
    case "address":
      return peopleOf(entry.address, signal);
    default:
      return {};
  }
}

async function peopleOf(address: string, signal: AbortSignal): Promise<Resolved> {
  const verified = await ask<{ users: readonly User[] }>(
    "/user/bulk-by-address",
    { addresses: address },
    signal,
  );
  const people = verified?.users ?? [];
  if (people.length > 1) return { people };
  const [only] = people;
  if (only) return { page: pageOfPerson(only) };
  const custody = await ask<{ user: User }>("/user/custody-address", { custody_address: address }, signal);
  return custody ? { page: pageOfPerson(custody.user) } : {};
}
