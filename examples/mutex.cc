/* SPDX-License-Identifier: Apache-2.0 */
/* Take a lock in C++, say which token it came with, release it: mutex [HOSTS [PATH]]. */
#include <iostream>
#include <paddock.hpp>

int main(int argc, char **argv)
{
    try {
        paddock::client client(argc > 1 ? argv[1] : "127.0.0.1:2181");
        paddock::mutex mutex(client, argc > 2 ? argv[2] : "/locks/orders");
        paddock::guard held(mutex); /* or a std::unique_lock; this one throws at its end if the lock was lost */
        std::cout << "held, token " << mutex.token() << std::endl; /* the work: give the token to what you write to */
    } catch (const std::exception &error) {
        std::cerr << "mutex: " << error.what() << std::endl;
        return 1;
    }
}
