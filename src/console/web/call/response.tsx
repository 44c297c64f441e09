import { useState } from "preact/hooks";
import { Icon } from "../icons/icons.tsx";
import { CopyButton } from "../parts/copy.tsx";
import { Tabs, tabPanelProps } from "../parts/page-head.tsx";
import { Pill, Time } from "../parts/pill.tsx";
import { RawText } from "../parts/raw-text.tsx";
import * as msg from "../text/en/tools/call.ts";
import { formatBytes, formatDuration } from "../text/format.ts";
import { castPage, channelPage, personPage } from "../text/page-paths.ts";
import type { Outcome } from "./run.ts";

/** The context of a name: the containing object, and its own name. */
interface Around {
  readonly name: string;
  readonly parent: Readonly<Record<string, unknown>> | undefined;
}

const HASH = /^0x[0-9a-f]{40}$/;
/** A map, because names come from a response and may be `constructor`. */
const RECORDS: ReadonlyMap<string, string> = new Map([
  ["webhook_id", "webhooks"],
  ["app_id", "apps"],
  ["campaign_id", "campaigns"],
  ["api_key_id", "keys"],
]);

/** Returns the console page for what a response's value identifies. The value comes from a stranger, so it is encoded. */
export function pageOf(value: unknown, { name, parent }: Around): string | undefined {
  if (typeof value === "number") return /(^|_)fids?$/.test(name) && value > 0 ? personPage(value) : undefined;
  if (typeof value !== "string" || value === "") return undefined;
  if (/(^|_)hash$/.test(name) && HASH.test(value)) return castPage(value);
  if (name === "username" && typeof parent?.fid === "number") return personPage(parent.fid);
  if (name === "channel_id" || (name === "id" && parent?.object === "channel")) return channelPage(value);
  const record = RECORDS.get(name);
  return record && `/console/manage/${record}/${encodeURIComponent(value)}`;
}

const MIN_SECS = 1_000_000_000;
const MAX_SECS = 5_000_000_000;
const isTime = (name: string, value: unknown): value is number =>
  /(_at|^timestamp|^at)$/.test(name) && typeof value === "number" && value > MIN_SECS && value < MAX_SECS;

/** Returns a text as JSON, with invisible and direction-changing characters escaped. */
const literal = (text: string) =>
  JSON.stringify(text).replaceAll(
    /[\u007f-\u009f\u00ad\u061c\u115f\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

function Leaf({ value, around }: { value: unknown; around: Around }) {
  const page = pageOf(value, around);
  const shown = typeof value === "string" ? <bdi class="user">{literal(value)}</bdi> : String(value);
  return (
    <>
      {page === undefined ? (
        <span class="mono">{shown}</span>
      ) : (
        <a class="mono" href={page}>
          {shown}
        </a>
      )}
      {isTime(around.name, value) && (
        <>
          {" "}
          <Time ago at={value} />
        </>
      )}
    </>
  );
}

const PAGE = 50;
const OPEN_DEPTH = 3;
/** List items that are initially open: 25 open casts would make a page of 13,000 px. */
const OPEN_ITEMS = 3;

interface NodeProps {
  readonly value: unknown;
  /** In program notation: `casts[0].author.fid`. */
  readonly path: string;
  readonly around: Around;
  readonly depth: number;
}

/** Renders the members of an object or a list in pages; folded ones are not rendered. */
function Members({ value, path, around, depth }: NodeProps & { value: object }) {
  const [shown, setShown] = useState(PAGE);
  const isList = Array.isArray(value);
  const entries = Object.entries(value);
  const left = entries.length - shown;
  return (
    <>
      <ul class="tree">
        {entries.slice(0, shown).map(([name, member]) => (
          <li key={name}>
            <Node
              value={member}
              path={isList ? `${path}[${name}]` : path === "" ? name : `${path}.${name}`}
              around={isList ? around : { name, parent: value as Record<string, unknown> }}
              depth={depth + 1}
            />
          </li>
        ))}
      </ul>
      {left > 0 && (
        <button type="button" class="btn quiet" onClick={() => setShown(shown + PAGE)}>
          {msg.showMore(Math.min(left, PAGE))}
        </button>
      )}
    </>
  );
}

function Node(props: NodeProps) {
  const { value, path, around, depth } = props;
  const item = Number(/\[(\d+)\]$/.exec(path)?.[1] ?? 0);
  const [isOpen, setOpen] = useState(depth < OPEN_DEPTH && item < OPEN_ITEMS);
  const name = /\[\d+\]$|[^.]*$/.exec(path)?.[0] ?? path;
  if (typeof value !== "object" || value === null)
    return (
      <div class="row wrap tight" data-path={path}>
        <bdi class="dim user">{name}</bdi>
        <Leaf value={value} around={around} />
        <CopyPath path={path} />
      </div>
    );
  const size = Object.keys(value).length;
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <bdi class="user">{name}</bdi>{" "}
        <span class="dim xs">{Array.isArray(value) ? msg.itemsOf(size) : msg.fieldsOf(size)}</span>
      </summary>
      {isOpen && <Members {...props} value={value} />}
    </details>
  );
}

const CopyPath = ({ path }: { path: string }) => (
  <span class="path">
    <CopyButton text={path} label={<Icon name="copy" size={12} />} name={msg.copyPath(path)} />
  </span>
);

function Body({ outcome: { text, json } }: { outcome: Outcome }) {
  if (text === "") return <p class="empty">{msg.noBody}</p>;
  if (typeof json !== "object" || json === null) return <RawText text={text} label={msg.bodyOfTheResponse} />;
  return (
    <div class="pad">
      <Members value={json} path="" around={{ name: "", parent: undefined }} depth={0} />
    </div>
  );
}

/** Returns the cursor of the next page; undefined at the end of a list, and if a response is not a list. */
export function nextCursorOf(json: unknown): string | undefined {
  const next = (json as { next?: { cursor?: unknown } } | null | undefined)?.next;
  return typeof next?.cursor === "string" ? next.cursor : undefined;
}

/** Returns the units that a caller has left, from the header `RateLimit`; undefined if the node has no limit. */
const unitsLeft = ({ headers }: Outcome) =>
  /;r=(\d+)/.exec(headers.find(([name]) => name === "ratelimit")?.[1] ?? "")?.[1];

const VIEWS = [
  { id: "fields", label: msg.fields },
  { id: "raw", label: msg.raw },
  { id: "headers", label: msg.headers },
] as const;

/** Shows the node's response: fields, bytes and headers, all as text. */
export function ResponseView(props: {
  outcome: Outcome;
  onNextPage: ((cursor: string) => void) | undefined;
}) {
  const { outcome, onNextPage } = props;
  const [view, setView] = useState<(typeof VIEWS)[number]["id"]>("fields");
  const { status, ms, text, headers, json } = outcome;
  const units = unitsLeft(outcome);
  const cursor = nextCursorOf(json);
  const requestId = headers.find(([name]) => name === "x-request-id")?.[1];
  return (
    <>
      <p class="pad row wrap s">
        <Pill kind={status < 400 ? "ok" : "bad"}>{status}</Pill>
        <span>{formatDuration(ms)}</span>
        <span>{formatBytes(new TextEncoder().encode(text).length)}</span>
        {units !== undefined && <span>{msg.unitsLeft(units)}</span>}
        {requestId !== undefined && <span class="mono dim xs grow">{requestId}</span>}
      </p>
      <Tabs label={msg.view} name="response" tabs={VIEWS} selected={view} onSelect={setView} />
      <div {...tabPanelProps("response", view)}>
        {view === "fields" && <Body outcome={outcome} />}
        {view === "raw" && <RawText text={text} label={msg.bodyOfTheResponse} />}
        {view === "headers" && (
          <RawText
            text={headers.map(([name, value]) => `${name}: ${value}`).join("\n")}
            label={msg.headersOfTheResponse}
          />
        )}
      </div>
      {cursor !== undefined && onNextPage && (
        <p class="pad">
          <button type="button" class="btn" onClick={() => onNextPage(cursor)}>
            {msg.nextPage}
          </button>
        </p>
      )}
    </>
  );
}
