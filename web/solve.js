// Solves the proof of work that an answer asks for (428), in the background.

const workUrl = new URL('./work.js', import.meta.url).href;

/**
 * What goes into the header `Onsale-Work`. `tell` hears how many counters were tried.
 * @param {any} challenge
 * @param {(tried: number) => void} [tell]
 * @returns {Promise<string>}
 */
export async function solve(challenge, tell = () => {}) {
  const began = performance.now();
  const found = await inWorker(challenge.parameters, tell).catch(() => inSlices(challenge.parameters, tell));
  const solution = { ...found, time: Math.round(performance.now() - began) };
  return btoa(JSON.stringify({ challenge, solution }));
}

/** @param {any} parameters @param {(tried: number) => void} tell */
function inWorker(parameters, tell) {
  return new Promise((resolve, reject) => {
    const worker = new Worker(workUrl, { type: 'module' });
    worker.onmessage = ({ data: { tried, found } }) => {
      if (tried) return tell(tried);
      worker.terminate();
      resolve(found);
    };
    worker.onerror = reject;
    worker.postMessage(parameters);
  });
}

/** Where there are no workers: between two slices the page can be used. @param {any} parameters @param {(tried: number) => void} tell */
async function inSlices(parameters, tell) {
  const slices = (await import(workUrl)).solve(parameters);
  for (let step = slices.next(); ; step = slices.next()) {
    if (step.done) return step.value;
    tell(step.value);
    await new Promise((next) => setTimeout(next));
  }
}
