/** Waits for work, but not longer; answers whether it was done. What it fails with is nobody's here. */
export async function within(ms: number, work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  const done = work.then(
    () => true,
    () => false,
  );
  const isDone = await Promise.race([done, over]);
  clearTimeout(timer);
  return isDone;
}
