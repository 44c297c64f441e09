import { Frame } from "./frame.ts";
import { cursorOf, type StreamPosition } from "./position.ts";

/** The first frame of a stream, and the answer to a new subscription. */
export function helloFrame(
  position: StreamPosition,
  facts: {
    readonly oldest: StreamPosition;
    readonly kinds: readonly string[];
    readonly resumed: boolean;
    readonly lagSecs: number;
  },
): Frame {
  const data = {
    cursor: cursorOf(position),
    oldest_cursor: cursorOf(facts.oldest),
    kinds: facts.kinds,
    resumed: facts.resumed,
    lag_secs: facts.lagSecs,
  };
  return new Frame("hello", JSON.stringify(data), position);
}

/** Reports that events between two positions are gone. `from` is undefined where the client has named none. */
export function gapFrame(from: StreamPosition | undefined, to: StreamPosition): Frame {
  return new Frame("gap", JSON.stringify({ from: from ? cursorOf(from) : null, to: cursorOf(to) }), to);
}

/** The last frame of a stream that this node ends. Its cursor resumes behind the last event that was sent. */
export function errorFrame(code: string, message: string, cursor: string): Frame {
  return new Frame("error", JSON.stringify({ code, message, cursor }), undefined);
}
