import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { mayFold } from "./fold.ts";

/** Cuts long text after 12 lines, with a button for the rest. Its height is measured once the browser has it at hand. */
export function FoldedText({ text, children }: { text: string; children: ComponentChildren }) {
  const box = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useState(false);
  const [isCut, setCut] = useState(false);
  const isCandidate = mayFold(text);
  useEffect(() => {
    const element = box.current;
    if (!element || !isCandidate || isOpen) return;
    const observer = new ResizeObserver(() => setCut(element.scrollHeight > element.clientHeight + 1));
    observer.observe(element);
    return () => observer.disconnect();
  }, [isCandidate, isOpen]);
  return (
    <>
      <div ref={box} class={isCandidate && !isOpen ? "text folded" : "text"}>
        {children}
      </div>
      {(isCut || isOpen) && (
        <button type="button" class="btn quiet fold" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? "Show less" : "Show all"}
        </button>
      )}
    </>
  );
}
