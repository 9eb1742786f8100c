export const signIn = {
  title: 'Sign in',
  email: 'E-mail address',
  password: 'Password',
  submit: 'Sign in',
  codeTitle: 'Enter your code',
  code: 'Code of your authenticator app',
} as const;
