import type { Catalogue } from '../catalogue.js';

export const signIn: Catalogue['signIn'] = {
  title: 'Entrar',
  email: 'E-mail',
  password: 'Senha',
  submit: 'Entrar',
  codeTitle: 'Digite seu código',
  code: 'Código do seu aplicativo autenticador',
};
