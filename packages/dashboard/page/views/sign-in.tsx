import { useState } from 'preact/hooks';
import { call, useCsrf } from '../api.js';

/** Trades a token for the cookie of this browser. */
export function SignInView({ onSignedIn }: { readonly onSignedIn: (name: string) => void }) {
  const [problem, setProblem] = useState('');
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const token = new FormData(event.currentTarget as HTMLFormElement).get('token');
    call<{ name: string; csrf: string }>('POST', '/api/session', { token }).then(
      ({ name, csrf }) => {
        useCsrf(csrf);
        onSignedIn(name);
      },
      (error: Error) => setProblem(error.message),
    );
  };
  return (
    <form class="sign-in card" onSubmit={submit}>
      <h1>Troupe</h1>
      <p>
        <label>
          Token <input name="token" type="password" autocomplete="current-password" required />
        </label>
      </p>
      <button type="submit" class="main">
        Sign in
      </button>
      {problem === '' ? null : (
        <p class="error" role="alert">
          {problem}
        </p>
      )}
    </form>
  );
}
