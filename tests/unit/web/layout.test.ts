/** Sizes of the page's regions. */
import { expect, it } from 'vitest';
import { DRAWER_MIN, PANE_MIN, paneWidths, PANEL_MIN, parseLayout, withPaneWidth } from '../../../web/state/layout.ts';

it('has initial sizes for a new page, and for damaged ones', () => {
  const initial = parseLayout(null);
  expect(initial).toMatchObject({ sidebar: { isOpen: true, width: 272 }, shares: [] });
  expect(initial.panes).toHaveLength(3);
  expect(initial.panes[0]).not.toHaveProperty('panel');
  for (const text of ['{', '[]', 'null', '{"panes":{},"shares":1,"sidebar":[]}']) {
    expect(parseLayout(text)).toEqual(initial);
  }
});

it('reads what was stored, within the limits', () => {
  const stored = {
    sidebar: { isOpen: false, width: 9000 },
    panes: [{ panel: 'files', panelWidth: 1, drawer: null, drawerHeight: 300 }, { panelWidth: '500' }],
    shares: [2, -1, 'x', 4],
  };
  const layout = parseLayout(JSON.stringify(stored));
  expect(layout.sidebar).toEqual({ isOpen: false, width: 400 });
  expect(layout.panes[0]).toEqual({ panel: 'files', panelWidth: PANEL_MIN, drawer: null, drawerHeight: 300 });
  expect(layout.panes[1]?.panelWidth).toBe(layout.panes[2]?.panelWidth);
  expect(layout.panes[2]?.drawerHeight).toBeGreaterThanOrEqual(DRAWER_MIN);
  expect(layout.shares).toEqual([2, 0, 0]);
  expect(parseLayout(JSON.stringify(layout))).toEqual(layout);
});

it('divides the width by shares, and equally after a pane was opened', () => {
  expect(paneWidths(1200, 2, [1, 2])).toEqual([400, 800]);
  expect(paneWidths(1200, 3, [1, 2])).toEqual([400, 400, 400]);
  expect(paneWidths(1200, 2, [0, 0])).toEqual([600, 600]);
  expect(paneWidths(1200, 2, [1, 99])[0]).toBe(PANE_MIN);
});

it('resizes a pane at the expense of its right neighbour, which keeps its minimum', () => {
  expect(withPaneWidth([400, 500, 300], 0, 450)).toEqual([450, 450, 300]);
  expect(withPaneWidth([400, 500, 300], 0, 10)).toEqual([PANE_MIN, 900 - PANE_MIN, 300]);
  expect(withPaneWidth([400, 500, 300], 0, 2000)).toEqual([900 - PANE_MIN, PANE_MIN, 300]);
});
