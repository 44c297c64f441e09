import { effect } from "@preact/signals";
import { isVisible } from "../data/visibility.ts";

/** What a feed of the demo begins with. */
interface Hello {
  /** Another one after a restart of the node, which numbers events from 1 again. */
  readonly feed: string;
}

/**
 * Follows a feed of the demo while the tab is shown, and resumes behind the last event. Returns the stop. It is the one EventSource of
 * its page.
 */
export function followDemoFeed<Event, Opening = object>(
  path: string,
  handlers: { readonly onEvent: (event: Event) => void; readonly onOpen?: (opening: Opening) => void },
): () => void {
  let feed = "";
  let last = 0;
  return effect(() => {
    if (!isVisible.value) return;
    const source = new EventSource(`/console/demo/${path}`);
    source.addEventListener("hello", ({ data }: MessageEvent<string>) => {
      const hello = JSON.parse(data) as Hello & Opening;
      if (hello.feed !== feed) last = 0;
      ({ feed } = hello);
      handlers.onOpen?.(hello);
    });
    source.onmessage = ({ lastEventId, data }: MessageEvent<string>) => {
      const number = Number(lastEventId);
      // A new source begins at the oldest event.
      if (number <= last) return;
      last = number;
      handlers.onEvent(JSON.parse(data) as Event);
    };
    return () => source.close();
  });
}
