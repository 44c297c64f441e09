import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Call } from "../data/call.ts";
import type { RequestFailure } from "../data/request.ts";
import { nowMs } from "../data/visibility.ts";
import { Icon } from "../icons/icons.tsx";
import * as msg from "../text/en/common.ts";
import { formatSecs } from "../text/format.ts";
import { CallPanel } from "./call-panel.tsx";
import { Pill } from "./pill.tsx";

interface Aged {
  readonly error: RequestFailure | undefined;
  readonly loadedAtMs: number;
}

/** Returns how old a query's out-of-date data is: the node has not responded since, or refuses. */
function silenceOf({ error, loadedAtMs }: Aged): string {
  // Its ticks trigger a new render; the last tick may be earlier than the arrival of the data.
  const now = Math.max(nowMs.value, Date.now());
  const age = formatSecs((now - loadedAtMs) / 1000);
  if (error !== undefined && error.status !== 0) return msg.old(age);
  return loadedAtMs === 0 ? msg.noResponse : msg.noResponseFor(age);
}

/** The same, next to out-of-date data. */
export function SilencePill({ query }: { query: Aged }) {
  return (
    <Pill>
      <span role="status">{silenceOf(query)}</span>
    </Pill>
  );
}

/** Shows the data of a query outside of a region. Once it is out of date, it is gray and shows its age. */
export function WhileFresh({
  query,
  children,
}: {
  query: Aged & { readonly isStale: boolean };
  children: ComponentChildren;
}) {
  return (
    <>
      {query.isStale && (
        <p>
          <SilencePill query={query} />
        </p>
      )}
      <div class={`stack ${query.isStale ? "old" : ""}`}>{children}</div>
    </>
  );
}

const DELAY_MS = 150;

/** A placeholder for rows that are loading: at first nothing, then bars of the final size. */
export function Skeleton({ rows = 3, height = 4.5 }: { rows?: number; height?: number }) {
  const [shown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), DELAY_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div class="pad stack bones" aria-busy="true">
      <span class="skip">{msg.loading}</span>
      {Array.from({ length: rows }, (_, row) => (
        <div class={shown ? "bone" : ""} style={{ blockSize: `${height}rem` }} key={row} />
      ))}
    </div>
  );
}

const TICK_MS = 1000;

/** Returns the seconds until the node may be asked again; 0 if now. */
function useCountdown(failure: RequestFailure): number {
  const [left, setLeft] = useState(0);
  useEffect(() => {
    const endMs = performance.now() + (failure.retryAfterMs ?? 0);
    const tick = () => setLeft(Math.max(0, Math.ceil((endMs - performance.now()) / TICK_MS)));
    tick();
    const timer = setInterval(tick, TICK_MS);
    return () => clearInterval(timer);
  }, [failure]);
  return left;
}

/** A failure, shown in the region concerned: the node's message, the request, and what to do. */
export function FailureBox({ failure, retry }: { failure: RequestFailure; retry?: () => void }) {
  const left = useCountdown(failure);
  // Not an error: the operator has disabled it.
  if (failure.status === 501)
    return (
      <p class="empty" role="status">
        <b>{msg.notOnThisNode}</b> {failure.message}
      </p>
    );
  return (
    <div class="failure" role="alert">
      <p>
        <b>{failure.status === 0 ? msg.noResponseBecause : failure.status}</b> {failure.message}
      </p>
      {failure.requestId !== undefined && <p class="xs mono dim">{msg.request(failure.requestId)}</p>}
      {retry && (
        <p>
          <button type="button" class="btn" aria-disabled={left > 0} onClick={left > 0 ? undefined : retry}>
            {left > 0 ? msg.tryAgainInS(left) : msg.tryAgain}
          </button>
        </p>
      )}
    </div>
  );
}

/** A card with a heading. */
export function Card(props: {
  title: string;
  /** Shown next to the heading. */
  aside?: ComponentChildren;
  children: ComponentChildren;
}) {
  const { title, aside, children } = props;
  return (
    <section class="card" aria-label={title}>
      <header>
        <h2 class="grow">{title}</h2>
        {aside}
      </header>
      <div class="pad stack">{children}</div>
    </section>
  );
}

/** What a region needs to know about its data: a `Query`, or a `Pages` adapted by `pagesAsQuery`. */
export interface RegionQuery<T> {
  readonly data: T | undefined;
  readonly error: RequestFailure | undefined;
  /** Whether the data is out of date. */
  readonly isStale: boolean;
  /** When the data arrived, in ms of `Date.now()`. */
  readonly loadedAtMs: number;
  refresh(): void;
}

export interface RegionProps<T> {
  readonly title: ComponentChildren;
  readonly call: Call | undefined;
  readonly query: RegionQuery<T>;
  /** Shown next to the heading: a link, a figure, a button. */
  readonly aside?: ComponentChildren;
  /** Shown until the data has arrived. */
  readonly skeleton?: ComponentChildren;
  /** Reports whether there is nothing to show, and the text for that case. */
  readonly isEmpty?: (data: T) => boolean;
  readonly empty?: ComponentChildren;
  readonly children: (data: T) => ComponentChildren;
}

/** Shows and hides the call behind something. */
export function CallButton({ isOpen, onToggle }: { isOpen: boolean; onToggle: () => void }) {
  return (
    <button
      type="button"
      class="btn quiet"
      data-call-button
      aria-expanded={isOpen}
      aria-label={msg.theCall}
      title={msg.theCall}
      onClick={onToggle}
    >
      <Icon name="code" size={15} />
    </button>
  );
}

/**
 * A card with a heading and the call that filled it. Old data stays while new data is loading, and is grayed once it is out of date. A
 * failure is shown in the card concerned.
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
