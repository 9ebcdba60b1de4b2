// Headers come as lines, a name and its value in turn, for one text crosses the border of
// WebAssembly more cheaply than many.

const read = (lines) => {
  const texts = lines.split('\n');
  const headers = new Headers();
  for (let i = 0; i + 1 < texts.length; i += 2) headers.append(texts[i], texts[i + 1]);
  return headers;
};

// Nearly all answers are polls, and those have the same headers.
let last = { lines: '', headers: read('') };

/** `body` is a view of memory that is used again, so it is copied. */
export const respond = (status, lines, body) => {
  if (lines !== last.lines) last = { lines, headers: read(lines) };
  return new Response(body ? body.slice() : null, { status, headers: last.headers });
};
