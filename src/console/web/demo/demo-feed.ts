import { effect } from "@preact/signals";
import { followServerEvents } from "../data/server-events.ts";
import { isVisible } from "../data/visibility.ts";

/** What a feed of the demo begins with. */
interface Hello {
  /** Another one after a restart of the node, which numbers events from 1 again. */
  readonly feed: string;
}

/** Follows a feed of the demo while the tab is shown, and resumes after the last event. Returns the stop. */
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
        // A feed of another run of the node begins at its oldest event.
        if (number <= last) return;
        last = number;
        handlers.onEvent(JSON.parse(data) as Event);
      },
      onFailure: ({ status }) => status === 429 || status >= 500,
    });
    return () => stop.abort();
  });
}
