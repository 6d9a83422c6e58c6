/** Modules of React Native, which are not installed here. Nothing of them is checked. */
declare module 'expo-secure-store';
declare module 'react-native';
declare module 'react-native-argon2';
declare module 'react-native-get-random-values';
