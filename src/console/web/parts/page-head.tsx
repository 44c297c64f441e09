import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { pageConfig } from "../page-config.ts";

let isFirstPage = true;

/** One step of the way to a page. Without `href` it is the page itself. */
export interface Crumb {
  readonly label: ComponentChildren;
  readonly href?: string;
}

/** The h1 of a page, which gets the focus after a navigation, and the title of the tab. */
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

/** Gives the heading of the page the focus, and shows it, where what had the focus has disappeared. */
export function focusHeading(): void {
  document.querySelector<HTMLElement>("h1")?.focus();
}

/** The heading of what an action has made. It takes the focus from the form that made it. */
export function ResultHeading({ id, children }: { id?: string; children: ComponentChildren }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return (
    <h2 class="grow" id={id} ref={heading} tabIndex={-1}>
      {children}
    </h2>
  );
}

/** The way to a page. */
export function Crumbs({ crumbs }: { crumbs: readonly Crumb[] }) {
  return (
    <nav class="crumbs" aria-label="Breadcrumb">
      {crumbs.map(({ label, href }, at) => (
        <span class="row tight" key={at}>
          {at > 0 && <span aria-hidden="true">/</span>}
          {href === undefined ? <span aria-current="page">{label}</span> : <a href={href}>{label}</a>}
        </span>
      ))}
    </nav>
  );
}

/** The top of a page: the way to it, its heading, and what can be done with all of it. */
export function PageHead({
  crumbs,
  title,
  heading,
  children,
}: {
  crumbs?: readonly Crumb[];
  title: string;
  heading?: ComponentChildren;
  children?: ComponentChildren;
}) {
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
