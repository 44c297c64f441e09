import { useEffect, useRef } from "preact/hooks";

export interface Tab<Id extends string> {
  readonly id: Id;
  readonly label: string;
}

/** Tabs after the ARIA pattern: arrows move, Home and End jump. The panel is the caller's, with `tabPanelProps`. */
export function Tabs<Id extends string>({
  label,
  name,
  tabs,
  selected,
  onSelect,
  tabClass = "btn quiet",
}: {
  label: string;
  /** Unique on the page: makes the ids of tabs and panel. */
  name: string;
  tabs: readonly Tab<Id>[];
  selected: Id;
  onSelect: (id: Id) => void;
  tabClass?: string;
}) {
  const list = useRef<HTMLDivElement>(null);
  // The tabs may be wider than the page.
  useEffect(() => {
    const tab = list.current?.querySelector<HTMLElement>("[aria-selected=true]");
    if (!list.current || !tab) return;
    const left = tab.offsetLeft - list.current.offsetLeft;
    const { scrollLeft, clientWidth } = list.current;
    if (left < scrollLeft || left + tab.offsetWidth > scrollLeft + clientWidth)
      list.current.scrollLeft = left - 16;
  }, [selected]);
  function move(event: KeyboardEvent) {
    const at = tabs.findIndex(({ id }) => id === selected);
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const tab = tabs.at(to % tabs.length);
    if (!tab) return;
    onSelect(tab.id);
    list.current?.querySelector<HTMLElement>(`#${name}-tab-${tab.id}`)?.focus();
  }
  return (
    <div role="tablist" aria-label={label} class="row tabs tight" ref={list} onKeyDown={move}>
      {tabs.map(({ id, label: text }) => (
        <button
          type="button"
          role="tab"
          id={`${name}-tab-${id}`}
          key={id}
          class={tabClass}
          aria-selected={id === selected}
          aria-controls={`${name}-panel`}
          tabIndex={id === selected ? 0 : -1}
          onClick={() => onSelect(id)}
        >
          {text}
        </button>
      ))}
    </div>
  );
}

/** The attributes of the element that shows the selected tab. */
export const tabPanelProps = (name: string, selected: string) => ({
  id: `${name}-panel`,
  role: "tabpanel" as const,
  "aria-labelledby": `${name}-tab-${selected}`,
});
