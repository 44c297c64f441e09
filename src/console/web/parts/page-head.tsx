import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { useLocation } from "preact-iso";
import { pageConfig } from "../page-config.ts";
import * as msg from "../text/en/common.ts";

let isFirstPage = true;

/** One step of the breadcrumb. Without `href` it is the page itself. */
export interface Crumb {
  readonly label: ComponentChildren;
  readonly href?: string;
}

/** The h1 of a page, which gets the focus after a navigation. Also sets the title of the tab. */
export function Heading({ text, children }: { text: string; children?: ComponentChildren }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${text} · ${pageConfig.service}`;
  }, [text]);
  useEffect(() => {
    if (!isFirstPage) heading.current?.focus({ preventScroll: true });
    isFirstPage = false;
  }, []);
  return (
    <h1 ref={heading} tabIndex={-1}>
      {children ?? text}
    </h1>
  );
}

/** Focuses the heading of the page and scrolls to it, after the focused element has disappeared. */
export function focusHeading(): void {
  document.querySelector<HTMLElement>("h1")?.focus();
}

/** The heading of an action's result. It takes the focus from the form. */
export function ResultHeading({ id, children }: { id?: string; children: ComponentChildren }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return (
    <h2 class="grow" id={id} ref={heading} tabIndex={-1}>
      {children}
    </h2>
  );
}

/** The breadcrumb of a page. */
export function Crumbs({ crumbs }: { crumbs: readonly Crumb[] }) {
  return (
    <nav class="crumbs" aria-label={msg.breadcrumb}>
      {crumbs.map(({ label, href }, at) => (
        <span class="row tight" key={at}>
          {at > 0 && <span aria-hidden="true">/</span>}
          {href === undefined ? <span aria-current="page">{label}</span> : <a href={href}>{label}</a>}
        </span>
      ))}
    </nav>
  );
}

/** The top of a page: breadcrumb, heading, and actions for the whole page. */
export function PageHead(props: {
  crumbs?: readonly Crumb[];
  title: string;
  heading?: ComponentChildren;
  children?: ComponentChildren;
}) {
  const { crumbs, title, heading, children } = props;
  return (
    <>
      {crumbs && <Crumbs crumbs={crumbs} />}
      <div class="head">
        <Heading text={title}>{heading}</Heading>
        {children}
      </div>
    </>
  );
}

interface Tab<Id extends string> {
  readonly id: Id;
  readonly label: string;
}

/** Tabs according to the ARIA pattern: arrows move, Home and End jump. The caller renders the panel, with `tabPanelProps`. */
export function Tabs<Id extends string>(props: {
  label: string;
  /** Unique on the page: prefix of the ids of tabs and panel. */
  name: string;
  tabs: readonly Tab<Id>[];
  selected: Id;
  onSelect: (id: Id) => void;
  tabClass?: string;
}) {
  const { label, name, tabs, selected, onSelect, tabClass = "btn quiet" } = props;
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

/**
 * Tabs whose selection is in the URL as `?tab=`; without it, the first is selected. Returns the selected one, the tabs, and the
 * attributes of their panel.
 */
export function useUrlTabs<T extends Tab<string>>(name: string, label: string, tabs: readonly T[]) {
  const { path, query, route } = useLocation();
  const first = tabs[0] as T;
  const selected = tabs.find(({ id }) => id === query.tab) ?? first;
  const pathOf = (id: T["id"]) => (id === first.id ? path : `${path}?tab=${id}`);
  const list = (
    <Tabs label={label} name={name} tabs={tabs} selected={selected.id} onSelect={(id) => route(pathOf(id))} />
  );
  return { selected, pathOf, list, panel: tabPanelProps(name, selected.id) };
}

/** Returns the attributes of the element that shows the selected tab. */
export const tabPanelProps = (name: string, selected: string) => ({
  id: `${name}-panel`,
  role: "tabpanel" as const,
  "aria-labelledby": `${name}-tab-${selected}`,
});
