// Calls of the service's own API.
let key = sessionStorage.getItem("gbose-key");

export function setKey(text) {
  key = text;
  sessionStorage.setItem("gbose-key", text);
}

export function forgetKey() {
  key = null;
  sessionStorage.removeItem("gbose-key");
}

export async function call(method, path, body) {
  const answer = await fetch(path, {
    method,
    headers: key ? { Authorization: `Bearer ${key}` } : {},
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const said = answer.status === 204 ? null : await answer.json();
  if (!answer.ok) {
    const error = new Error(said?.error?.message ?? `status ${answer.status}`);
    error.status = answer.status;
    throw error;
  }
  return said;
}
