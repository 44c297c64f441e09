import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Call } from "../data/call.ts";
import type { RequestFailure } from "../data/request.ts";
import { Icon } from "../icons.tsx";
import { CallPanel } from "./call-panel.tsx";
import { FailureBox } from "./failure-box.tsx";
import { SilencePill } from "./silence.tsx";
import { Skeleton } from "./skeleton.tsx";

/** What a region needs to know of its data: a `Query`, or a `Pages` by `pagesAsQuery`. */
export interface RegionQuery<T> {
  readonly data: T | undefined;
  readonly error: RequestFailure | undefined;
  /** Whether the data are out of date. */
  readonly isStale: boolean;
  /** When they came, in ms of `Date.now()`. */
  readonly loadedAtMs: number;
  refresh(): void;
}

export interface RegionProps<T> {
  readonly title: ComponentChildren;
  readonly call: Call | undefined;
  readonly query: RegionQuery<T>;
  /** Beside the heading: a link, a figure, a button. */
  readonly aside?: ComponentChildren;
  /** What stands there while nothing has come yet. */
  readonly skeleton?: ComponentChildren;
  /** Whether there is nothing to show, and what is said then. */
  readonly isEmpty?: (data: T) => boolean;
  readonly empty?: ComponentChildren;
  readonly children: (data: T) => ComponentChildren;
}

/** Shows and hides the call of something. */
export function CallButton({ isOpen, onToggle }: { isOpen: boolean; onToggle: () => void }) {
  return (
    <button
      type="button"
      class="btn quiet"
      data-call-button
      aria-expanded={isOpen}
      aria-label="The call"
      title="The call"
      onClick={onToggle}
    >
      <Icon name="code" size={15} />
    </button>
  );
}

/**
 * A card with a heading and the call that filled it. Old data stays while new is asked for, and looks old once it is out of date; a
 * failure is shown in the card that it concerns.
 */
export function Region<T>({ title, call, query, aside, skeleton, isEmpty, empty, children }: RegionProps<T>) {
  const [isOpen, setOpen] = useState(false);
  const { data, error, isStale } = query;
  const isOld = isStale && data !== undefined;
  return (
    <section class={`card region ${isOld ? "old" : ""}`}>
      <header>
        <h2 class="grow">{title}</h2>
        {isOld && <SilencePill query={query} />}
        {aside}
        {call && <CallButton isOpen={isOpen} onToggle={() => setOpen(!isOpen)} />}
      </header>
      {isOpen && call && <CallPanel call={call} />}
      {error && <FailureBox failure={error} retry={() => query.refresh()} />}
      {data === undefined ? (
        !error && (skeleton ?? <Skeleton />)
      ) : isEmpty?.(data) ? (
        <div class="empty">{empty}</div>
      ) : (
        children(data)
      )}
    </section>
  );
}
