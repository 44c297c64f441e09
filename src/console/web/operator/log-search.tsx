import { useState } from "preact/hooks";
import type { RecentLine } from "../../../runtime/log/recent-lines.ts";
import { useQuery } from "../data/query.ts";
import type { Selection } from "../moment/window.ts";
import { Region } from "../parts/region.tsx";
import * as msg from "../text/en/moment.ts";
import { LogLines } from "./log-lines.tsx";
import { operatorRead, operatorRequest } from "./session.ts";

interface LogResponse {
  readonly lines: readonly RecentLine[];
  /** Where older lines start; null at the end. */
  readonly cursor: number | null;
  /** Whether the search ended early because of its time limit. */
  readonly partial: boolean;
}

type Level = keyof typeof msg.levels;

/** Searches the stored log of a time range by words and level. */
export function LogSearch({ range }: { range: Selection }) {
  const [words, setWords] = useState("");
  const [level, setLevel] = useState<Level>("info");
  const [cursor, setCursor] = useState<number>();
  const params = new URLSearchParams({ from: `${range.from}`, to: `${range.to}`, level });
  if (words.trim() !== "") params.set("q", words.trim());
  if (cursor !== undefined) params.set("cursor", `${cursor}`);
  const query = useQuery(operatorRead<LogResponse>(`/log?${params}`), { send: operatorRequest });
  return (
    <Region
      title={msg.log}
      call={undefined}
      query={query}
      aside={
        <div class="row wrap choices">
          <input
            type="search"
            aria-label={msg.words}
            placeholder={msg.words}
            value={words}
            onInput={({ currentTarget }) => {
              setCursor(undefined);
              setWords(currentTarget.value);
            }}
          />
          <select
            aria-label={msg.level}
            value={level}
            onChange={({ currentTarget }) => {
              setCursor(undefined);
              setLevel(currentTarget.value as Level);
            }}
          >
            {Object.entries(msg.levels).map(([value, label]) => (
              <option value={value} key={value}>
                {label}
              </option>
            ))}
          </select>
        </div>
      }
    >
      {({ lines, cursor: older, partial }) => (
        <>
          {lines.length === 0 && <p class="empty">{partial ? msg.searchGoesOn : msg.noLines}</p>}
          <LogLines lines={lines} />
          {older !== null && (
            <p class="pad">
              <button type="button" class="btn" onClick={() => setCursor(older)}>
                {msg.older}
              </button>
            </p>
          )}
        </>
      )}
    </Region>
  );
}
