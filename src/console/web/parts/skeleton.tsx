import { useEffect, useState } from "preact/hooks";

const DELAY_MS = 150;

/** The place of rows that are on their way: nothing for the first moments, then bars of the final size. */
export function Skeleton({ rows = 3, height = 4.5 }: { rows?: number; height?: number }) {
  const [shown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), DELAY_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div class="pad stack bones" aria-busy="true">
      <span class="skip">Loading</span>
      {Array.from({ length: rows }, (_, row) => (
        <div class={shown ? "bone" : ""} style={{ blockSize: `${height}rem` }} key={row} />
      ))}
    </div>
  );
}
