// What each browser measurement does. Inside the boundary: from the stated start to the stated end, nothing else.

/** Opens Sheaf and waits until a person could type. */
async function open(page, launch) {
  await page.goto(launch);
  await page.getByRole("textbox", { name: "SQL editor" }).waitFor();
  await page.getByRole("treeitem").first().waitFor();
}

/** Puts a statement into the console, not running it. */
async function write(page, sql) {
  await page.getByRole("textbox", { name: "SQL editor" }).click();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(sql);
}

/**
 * Milliseconds from the key event of Ctrl+Enter to the frame after the first cell's text came to be `expected`.
 * The page watches before the key is pressed: what is only sent before it may still come after it.
 */
async function keyToPaint(page, expected) {
  await page.evaluate(watchForPaint, expected);
  await page.keyboard.press("Control+Enter");
  return page.evaluate(() => window.painted);
}

function watchForPaint(expected) {
  window.painted = new Promise((resolve) => {
    let start;
    addEventListener("keydown", (event) => event.key === "Enter" && event.ctrlKey && (start ??= event.timeStamp), { capture: true });
    const first = () => document.querySelector('[role="grid"] [role="row"][aria-rowindex="2"] [role="gridcell"][aria-colindex="1"]')?.textContent;
    const observer = new MutationObserver(() => {
      if (start === undefined || first() !== expected) return;
      observer.disconnect();
      requestAnimationFrame(() => {
        const channel = new MessageChannel();
        channel.port1.onmessage = () => resolve(performance.now() - start);
        channel.port2.postMessage(0);
      });
    });
    observer.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
  });
}

export const families = {
  /** B1's second half: Ctrl+Enter to the painted first rows of an unbounded SELECT. */
  async "first-page"(page, launch, { table, rounds, connection }, emit) {
    await open(page, launch);
    if (connection) {
      await page.getByRole("treeitem", { name: new RegExp(connection) }).first().click();
      await page.getByRole("button", { name: "New console" }).click();
    }
    for (let round = -2; round < rounds; round++) {
      // A value of this round only, so that rows of the round before can't be taken for the answer.
      const mark = String(1_000 + round);
      await write(page, `SELECT ${mark} AS mark, t.* FROM ${table} t`);
      const ms = await keyToPaint(page, mark);
      if (round >= 0) emit("key_to_paint_ms", ms);
    }
  },

  /** B5: wheel at 3,000 and 20,000 px/s over a result that has been read, and thumb jumps. */
  async "grid-scroll"(page, launch, { sql, rows }, emit) {
    await open(page, launch);
    await write(page, sql);
    await page.keyboard.press("Control+Enter");
    const grid = page.getByRole("grid", { name: "Result" });
    await grid.getByRole("gridcell").first().waitFor();
    await grid.getByRole("gridcell").first().click();
    await page.keyboard.press("Control+End");
    await page.waitForFunction((n) => document.querySelector('[role="grid"]')?.getAttribute("aria-rowcount") === String(n + 1), rows, { timeout: 600_000 });
    await page.keyboard.press("Control+Home");
    await grid.locator('[role="row"][aria-rowindex="2"]').waitFor();
    const session = await page.context().newCDPSession(page);
    await session.send("Performance.enable");
    const box = await grid.boundingBox();
    const at = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
    for (const [name, speed, distance] of [["warm", 3_000, 6_000], ["wheel", 3_000, 30_000], ["fling", 20_000, 100_000]]) {
      const before = await metrics(session);
      await page.evaluate(startFrames);
      await session.send("Input.synthesizeScrollGesture", { ...at, yDistance: -distance, speed, gestureSourceType: "mouse", preventFling: true });
      const frames = await page.evaluate(() => window.stopFrames());
      const after = await metrics(session);
      if (name === "warm") continue;
      for (const frame of frames) emit(`${name}_frame_ms`, frame);
      emit(`${name}_script_ms_per_frame`, ((after.ScriptDuration - before.ScriptDuration) * 1_000) / frames.length);
      emit(`${name}_task_ms_per_frame`, ((after.TaskDuration - before.TaskDuration) * 1_000) / frames.length);
      emit("nodes", await page.evaluate(() => document.querySelectorAll("*").length));
    }
    const first = await grid.getByRole("gridcell").first().textContent();
    if (!(Number(first) > 1_000)) throw new Error(`the wheel reached row ${first} only`);
  },

  /** B11's second half: from navigation, cold browser cache, to a console that takes text. */
  async start(page, launch, _options, emit) {
    await page.addInitScript(() => {
      const usable = () => document.querySelector('[role="treeitem"]') && [...document.querySelectorAll("button")].some((b) => b.textContent.trim().startsWith("Run") && b.getClientRects().length);
      new MutationObserver((_, observer) => {
        if (!usable()) return;
        observer.disconnect();
        requestAnimationFrame(() => (window.usableMs = performance.now()));
      }).observe(document, { subtree: true, childList: true });
    });
    await page.goto(launch);
    await page.waitForFunction(() => window.usableMs !== undefined);
    await page.getByRole("textbox", { name: "SQL editor" }).waitFor();
    emit("usable_ms", await page.evaluate(() => window.usableMs));
  },
};

async function metrics(session) {
  const { metrics } = await session.send("Performance.getMetrics");
  return Object.fromEntries(metrics.map(({ name, value }) => [name, value]));
}

function startFrames() {
  const frames = [];
  let last;
  let going = true;
  const step = (now) => {
    if (last !== undefined) frames.push(now - last);
    last = now;
    if (going) requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
  window.stopFrames = () => ((going = false), frames);
}
