import { effect } from "@preact/signals";
import type { Call } from "../data/call.ts";
import { followServerEvents } from "../data/event-stream.ts";
import { type Query, useQuery } from "../data/query.ts";
import { isVisible } from "../data/visibility.ts";
import * as msg from "../text/en/common.ts";

/** The first event of a demo feed. */
interface Hello {
  /** Changes with a restart of the node, which numbers events from 1 again. */
  readonly feed: string;
}

/** Follows a demo feed while the tab is visible, and resumes after the last event. Returns a function that stops this. */
export function followDemoFeed<Event, Opening = object>(
  path: string,
  handlers: { readonly onEvent: (event: Event) => void; readonly onOpen?: (opening: Opening) => void },
): () => void {
  let feed = "";
  let last = 0;
  return effect(() => {
    if (!isVisible.value) return;
    const stop = new AbortController();
    void followServerEvents(`/console/demo/${path}`, {
      lastId: last === 0 ? "" : String(last),
      stop: stop.signal,
      onEvent({ id, event, data }) {
        if (event === "hello") {
          const hello = JSON.parse(data) as Hello & Opening;
          if (hello.feed !== feed) last = 0;
          ({ feed } = hello);
          handlers.onOpen?.(hello);
          return;
        }
        const number = Number(id);
        // A feed of another run of the node starts at its oldest event.
        if (number <= last) return;
        last = number;
        handlers.onEvent(JSON.parse(data) as Event);
      },
      onFailure: ({ status }) => status === 429 || status >= 500,
    });
    return () => stop.abort();
  });
}

/** A person of the demo network, with the fields by which the page names people. */
export interface DemoUser {
  readonly fid: number;
  readonly username: string;
  readonly display_name: string;
}

interface People {
  readonly people: readonly {
    readonly fid: number;
    readonly username: string | null;
    readonly display_name: string;
  }[];
}

const PEOPLE: Call<People> = { method: "GET", path: "/console/demo/people" };

/** The people of the demo network, loaded on first use. */
export function useDemoPeople(isWanted: boolean): {
  readonly people: readonly DemoUser[];
  readonly query: Query<People>;
} {
  const query = useQuery(isWanted ? PEOPLE : undefined);
  const people = (query.data?.people ?? []).map(({ fid, username, display_name }) => ({
    fid,
    username: username ?? `!${fid}`,
    display_name,
  }));
  return { people, query };
}

/** Returns a person, with only the fid while their name is unknown. */
export const demoUserOf = (people: readonly DemoUser[], fid: number): DemoUser =>
  people.find((person) => person.fid === fid) ?? { fid, username: String(fid), display_name: msg.fidOf(fid) };
